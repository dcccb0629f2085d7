{% extends 'lib/recurrent_sequence.wgsl' %}
{% from 'lib/recurrent_dots.wgsl' import dots, total with context %}
{% block equations %}
{% include 'lib/recurrent_lstm.wgsl' %}
{% endblock %}
{% block constants %}
{% if at_peepholes %}
  let peephole_at = direction * 3u * HIDDEN + unit;
  let peephole = vec3<f32>(
    f32(peepholes[peephole_at]), f32(peepholes[peephole_at + HIDDEN]),
    f32(peepholes[peephole_at + 2u * HIDDEN]));
{% else %}
  let peephole = vec3<f32>();
{% endif %}
{% endblock %}
{% block cell %}
{{ dots(range(4), "state") }}
    if (owner) {
      let product = vec4<f32>(
        {{ total(0) }},
        {{ total(1) }},
        {{ total(2) }},
        {{ total(3) }});
      let now = lstm_cell(input + product, peephole, c, direction);
      h = now.hidden;
      c = now.cell;
      fresh[unit] = h;
{% if at_y %}
      y[y_at(time, row, direction, unit)] = {{ element }}(h);
{% endif %}
    }
{% endblock %}
