"""Distances of the drawing in pixels at scale 1, shared by layout, labels and painting."""

LAYER_GAP = 46.0  # between a box and the next below: an arrow and its label
NODE_GAP = 26.0  # between neighbours in a layer
LANE_GAP = 16.0  # between a passing line and what it passes
PORT_GAP = 14.0  # between arrows that end at one box
STUB = 16.0  # straight part of a line where it leaves or meets a box
COMPONENT_GAP = 60.0
LABEL_HEIGHT = 13.0
LABEL_GAP = 4.0
PORTAL_HEIGHT = 18.0
