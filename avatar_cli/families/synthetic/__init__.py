"""The synthetic family: networks with random weights at any size, to measure and test the runtime with."""
