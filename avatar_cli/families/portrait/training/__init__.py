"""Training of the portrait family's networks from generated speech, permissive recordings and six short
clips.
"""
