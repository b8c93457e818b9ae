"""A guard against losing sight of data: no second, empty file system without consent."""
