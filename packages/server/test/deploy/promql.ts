/** For tests: the metrics and labels that an expression of Prometheus names, by Prometheus' own grammar. */
import { parser } from '@prometheus-io/lezer-promql';

export interface PromqlNames {
  metrics: { name: string; labels: string[] }[];
  /** Labels of `by (…)` and `without (…)`. */
  grouping: string[];
}

/** Throws if the expression is invalid. */
export function readPromql(expression: string): PromqlNames {
  const names: PromqlNames = { metrics: [], grouping: [] };
  const text = (node: { from: number; to: number }) => expression.slice(node.from, node.to);
  parser.parse(expression).iterate({
    enter({ type, node }) {
      if (type.isError) throw new Error(`at ${node.from} of ${expression}`);
      if (type.name === 'VectorSelector') {
        const identifier = node.getChild('Identifier');
        const matchers = node.getChild('LabelMatchers');
        const labels = (matchers?.getChildren('UnquotedLabelMatcher') ?? []).map((matcher) =>
          text(matcher.getChild('LabelName')!),
        );
        names.metrics.push({ name: identifier === null ? '' : text(identifier), labels });
      }
      if (type.name === 'GroupingLabels') {
        names.grouping.push(...node.getChildren('LabelName').map(text));
      }
    },
  });
  return names;
}
