"""The five stages and the typed values between them."""
