{% extends 'lib/recurrent_step.wgsl' %}
{% block equations %}
{% include 'lib/recurrent_lstm.wgsl' %}
{% endblock %}
{% block cell %}
    let product = vec4<f32>(
      total(slot, 0u, lane), total(slot, 1u, lane), total(slot, 2u, lane), total(slot, 3u, lane));
    let next = lstm_cell(input + product, peepholes_of(direction, unit), old_c, direction);
    result = vec2<f32>(next.hidden, next.cell);
{% endblock %}
