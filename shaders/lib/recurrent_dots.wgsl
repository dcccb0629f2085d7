{#- Macros of the recurrent kernels: products of the state with the recurrent weights. -#}
{#- Whole sequences: the weights are registers w<gate>_<k>; parts[segment][gate][unit]. -#}
{% macro dots(gates, vector) %}
    {
{% for k in range(chunk) %}
      let v{{ k }} = {{ vector }}[first + {{ k }}u];
{% endfor %}
{% for gate in gates %}
      var dot{{ gate }} = w{{ gate }}_0 * v0;
{% for k in range(1, chunk) %}
      dot{{ gate }} = fma(w{{ gate }}_{{ k }}, v{{ k }}, dot{{ gate }});
{% endfor %}
      parts[(segment * GATES + {{ gate }}u) * HIDDEN + unit] =
        (dot{{ gate }}.x + dot{{ gate }}.y) + (dot{{ gate }}.z + dot{{ gate }}.w);
{% endfor %}
    }
    workgroupBarrier();
{% endmacro %}
{#- The finished product of a gate for this invocation's unit. -#}
{% macro total(gate) -%}
{% for s in range(segments) %}{{ " + " if s else "" }}parts[{{ (s * gates + gate) * hidden }}u + unit]{% endfor %}
{%- endmacro %}
{#- Makes ``fresh`` (one scalar per unit) readable by all as vec4s in ``vector``. Whole vec4s are -#}
{#- stored: WGSL lets a store to one component touch the other three. -#}
{% macro publish(vector) %}
    workgroupBarrier();
    if (local < {{ segments * chunk }}u) {
      let at = local * 4u;
      {{ vector }}[local] = vec4<f32>(fresh[at], fresh[at + 1u], fresh[at + 2u], fresh[at + 3u]);
    }
    workgroupBarrier();
{% endmacro %}
