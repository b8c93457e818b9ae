"""AMIs: baked by Packer, tested, published to channels, removed when nobody uses them."""
