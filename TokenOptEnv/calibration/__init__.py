"""The fit of the simulated models to published figures: `camre calibrate`."""
