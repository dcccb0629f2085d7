{% extends 'lib/recurrent_sequence.wgsl' %}
{% from 'lib/recurrent_dots.wgsl' import dots, total, publish with context %}
{% block equations %}
{% include 'lib/recurrent_gru.wgsl' %}
{% endblock %}
{% block memory %}
{% if not linear_before_reset %}
var<workgroup> scaled: array<vec4<f32>, {{ segments * chunk }}>;  // the state times the reset gate
{% endif %}
{% endblock %}
{% block constants %}
  let hidden_bias = hidden_bias_of(direction, unit);
{% endblock %}
{% block cell %}
{% if linear_before_reset %}
{{ dots(range(3), "state") }}
    if (owner) {
      let update = gru_gate(input.x + ({{ total(0) }}), direction);
      let reset = gru_gate(input.y + ({{ total(1) }}), direction);
      let product = {{ total(2) }} + hidden_bias;
      let candidate = gru_candidate_after(input.z, product, reset, direction);
      h = gru_blend(update, candidate, h);
{% else %}
{{ dots(range(2), "state") }}
    var update = 0.0;
    if (owner) {
      update = gru_gate(input.x + ({{ total(0) }}), direction);
      fresh[unit] = h * gru_gate(input.y + ({{ total(1) }}), direction);
    }
  {{- publish("scaled") }}
{{ dots([2], "scaled") }}
    if (owner) {
      let candidate = gru_candidate(input.z, {{ total(2) }}, direction);
      h = gru_blend(update, candidate, h);
{% endif %}
      fresh[unit] = h;
{% if at_y %}
      y[y_at(time, row, direction, unit)] = {{ element }}(h);
{% endif %}
    }
{% endblock %}
