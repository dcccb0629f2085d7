// What a sequence or a step of GRU and LSTM binds; of all but the first three what the node has.
// Variables: at_<name> (a binding, 0 for none), element, carried (the type that holds the states).
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding({{ at_projected }}) var<storage, read> projected: array<f32>;
@group(0) @binding({{ at_weights }}) var<storage, read> weights: array<vec4<{{ element }}>>;
{% if at_bias %}
@group(0) @binding({{ at_bias }}) var<storage, read> bias: array<{{ element }}>;
{% endif %}
{% if at_peepholes %}
@group(0) @binding({{ at_peepholes }}) var<storage, read> peepholes: array<{{ element }}>;
{% endif %}
{% if at_lengths %}
@group(0) @binding({{ at_lengths }}) var<storage, read> lengths: array<i32>;
{% endif %}
{% if at_initial_h %}
@group(0) @binding({{ at_initial_h }}) var<storage, read> initial_h: array<{{ element }}>;
{% endif %}
{% if at_initial_c %}
@group(0) @binding({{ at_initial_c }}) var<storage, read> initial_c: array<{{ element }}>;
{% endif %}
{% if at_y %}
@group(0) @binding({{ at_y }}) var<storage, read_write> y: array<{{ element }}>;
{% endif %}
{% if at_y_h %}
@group(0) @binding({{ at_y_h }}) var<storage, read_write> y_h: array<{{ element }}>;
{% endif %}
{% if at_y_c %}
@group(0) @binding({{ at_y_c }}) var<storage, read_write> y_c: array<{{ element }}>;
{% endif %}
{% if at_state %}
@group(0) @binding({{ at_state }}) var<storage, read_write> carried: array<{{ carried }}>;
{% endif %}
