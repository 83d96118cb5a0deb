"""The embedded family: speech to facial motion to a warped photo, in real time on two CPU cores."""
