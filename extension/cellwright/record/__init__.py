"""What a run is made of: messages, outputs, cells, events, and the record that they fold to."""
