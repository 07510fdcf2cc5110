"""Accuracy of our defaults beside the peers, on draws and folds that nothing was tuned on."""
