"""Reading model files into frozen data; nothing past this package sees protobuf."""
