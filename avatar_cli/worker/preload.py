"""What the launcher imports while the parent still validates the inputs, so that forked ranks find it loaded.

Importing any of these starts no thread and computes nothing: a process must have one thread when it forks.
"""

MODULES = (
    "torch",
    "numpy",
    "cv2",
    "safetensors.torch",
    "ai_edge_litert.interpreter",
)
