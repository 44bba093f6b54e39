"""Parts of scripts/peers.py, which times ours and PyTorch's compilers side by side."""
