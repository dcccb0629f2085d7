{% extends 'lib/recurrent_step.wgsl' %}
{% block equations %}
{% include 'lib/recurrent_lstm.wgsl' %}
{% endblock %}
{% block cell %}
{% if at_peepholes %}
    let peephole_at = direction * 3u * HIDDEN + unit;
    let peephole = vec3<f32>(
      f32(peepholes[peephole_at]), f32(peepholes[peephole_at + HIDDEN]),
      f32(peepholes[peephole_at + 2u * HIDDEN]));
{% else %}
    let peephole = vec3<f32>();
{% endif %}
    let product = vec4<f32>(
      total(slot, 0u, lane), total(slot, 1u, lane), total(slot, 2u, lane), total(slot, 3u, lane));
    let next = lstm_cell(input + product, peephole, old_c, direction);
    result = vec2<f32>(next.hidden, next.cell);
{% endblock %}
