{% extends 'lib/recurrent_sequence.wgsl' %}
{% from 'lib/recurrent_dots.wgsl' import dots, total with context %}
{% block equations %}
{% include 'lib/recurrent_lstm.wgsl' %}
{% endblock %}
{% block constants %}
  let peephole = peepholes_of(direction, unit);
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
