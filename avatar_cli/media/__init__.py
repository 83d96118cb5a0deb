"""Files in, files out: pictures, speech, MP4. Imports no torch."""
