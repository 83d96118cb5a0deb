"""The five stages (reference, context, audio-to-video, super-resolution, decode) and the typed values between them."""
