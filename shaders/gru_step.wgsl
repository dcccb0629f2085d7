{% extends 'lib/recurrent_step.wgsl' %}
{% block equations %}
{% include 'lib/recurrent_gru.wgsl' %}
{% endblock %}
{% block cell %}
{% if pass == "gates" %}
    let update = gru_gate(input.x + total(slot, 0u, lane), direction);
    let reset = gru_gate(input.y + total(slot, 1u, lane), direction);
    result = vec2<f32>(update, reset * old_h);
{% elif pass == "candidate" %}
    let update = scaled[scaled_at(0u, row, direction) + unit / 4u][unit % 4u];
    let candidate = gru_candidate(input.x, total(slot, 0u, lane), direction);
    result.x = gru_blend(update, candidate, old_h);
{% else %}
    let update = gru_gate(input.x + total(slot, 0u, lane), direction);
    let reset = gru_gate(input.y + total(slot, 1u, lane), direction);
    let product = total(slot, 2u, lane) + hidden_bias_of(direction, unit);
    let candidate = gru_candidate_after(input.z, product, reset, direction);
    result.x = gru_blend(update, candidate, old_h);
{% endif %}
{% endblock %}
