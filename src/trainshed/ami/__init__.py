"""AMIs: baked by Packer, tested, published to channels, removed when nothing uses them."""
