"""The graph: one page with a canvas, its breadcrumbs, legend and find bar.

::

    LaidOut ──drawing.Drawing──▶ numpy arrays       what is where, what is visible, what is hit
    Colouring ──looks──▶ Look                       classes to colours, patterns and glyphs
    painter.GraphPainter                            draws arrays, by level of detail
    canvas.GraphCanvas                              the widget: pan, zoom, hover, select
    page.GraphPage                                  models, layout jobs, navigation, reports
"""
