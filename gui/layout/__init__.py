"""From a graph to a drawing's geometry, off the GUI thread.

::

    Model, types ──scene_builder.build_scene──▶ Scene     boxes with sizes, edges with labels
    Scene ──scene_builder.layout_request──▶ LayoutRequest   sizes and index pairs, plain data
    LayoutRequest ──layout.lay_out──▶ LayoutResult        in a child process (process, worker)

``layout`` and what it calls know neither Qt nor the engine, so the child starts at once.
"""
