"""Speed as ratios against peers and accuracy on real data; scripts, not tests."""
