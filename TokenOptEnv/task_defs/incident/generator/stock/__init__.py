"""The material cases are made of, train and test apart: names, formats, wordings. Nothing here is shared by both."""
