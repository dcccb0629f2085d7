{#- Macros of the recurrent kernels: products of the state with the recurrent weights. -#}
{#- The weights are registers w<gate>_<k>; parts[segment][gate][unit]. One quad of the state -#}
{#- at a time and scalar sums: registers beside the weights are few. -#}
{% macro dots(gates, vector) %}
    {
{% for gate in gates %}
      var dot{{ gate }} = 0.0;
{% endfor %}
{% for k in range(chunk) %}
      let v{{ k }} = {{ vector }}[first + {{ k }}u];
{% for axis in "xyzw" %}
{% for gate in gates %}
      dot{{ gate }} = fma(w{{ gate }}_{{ k }}.{{ axis }}, v{{ k }}.{{ axis }}, dot{{ gate }});
{% endfor %}
{% endfor %}
{% endfor %}
{% for gate in gates %}
      parts[(segment * GATES + {{ gate }}u) * HIDDEN + unit] = dot{{ gate }};
{% endfor %}
    }
    workgroupBarrier();
{% endmacro %}
{#- The finished product of a gate for this invocation's unit. -#}
{% macro total(gate) -%}
{% for s in range(segments) %}
{{ " + " if s else "" }}parts[{{ (s * gates + gate) * hidden }}u + unit]
{%- endfor %}
{%- endmacro %}
{#- Makes ``fresh`` (one scalar per unit) readable by all as vec4s in ``vector``. Whole vec4s -#}
{#- are stored: WGSL lets a store to one component touch the other three. -#}
{% macro publish(vector) %}
    workgroupBarrier();
    if (local < {{ segments * chunk }}u) {
      let at = local * 4u;
      {{ vector }}[local] = vec4<f32>(fresh[at], fresh[at + 1u], fresh[at + 2u], fresh[at + 3u]);
    }
    workgroupBarrier();
{% endmacro %}
