/**
 * Finds the nodes of a graph that depend on a marked node. Explores the graph as nodes are asked for, each node once.
 * All look-ups together take time linear in the number of edges, also if nodes depend on each other.
 */

export interface Expansion<Mark> {
  /** Null: the node has no mark of its own. */
  mark: Mark | null;
  /** Keys of the nodes on which the node depends. */
  sources: readonly string[];
}

interface Node<Mark> {
  key: string;
  mark: Mark | null;
  /** The explored nodes that depend on this node. */
  dependents: Node<Mark>[];
}

export class DependencyMarks<Mark> {
  readonly #expand: (key: string) => Expansion<Mark>;
  readonly #nodes = new Map<string, Node<Mark>>();

  /** `expand` must not call `find`. */
  constructor(expand: (key: string) => Expansion<Mark>) {
    this.#expand = expand;
  }

  /** The mark of the node, or of a node on which it depends; null if there is none. */
  find(key: string): Mark | null {
    const asked = this.#nodes.get(key) ?? this.#explore(key);
    return asked.mark;
  }

  #explore(key: string): Node<Mark> {
    const asked = this.#add(key);
    const unexplored = [asked];
    for (let node = unexplored.pop(); node !== undefined; node = unexplored.pop()) {
      const { mark, sources } = this.#expand(node.key);
      if (mark !== null) this.#spread(node, mark);
      for (const source of sources) {
        const known = this.#nodes.get(source);
        const other = known ?? this.#add(source);
        if (known === undefined) unexplored.push(other);
        other.dependents.push(node);
        if (other.mark !== null) this.#spread(node, other.mark);
      }
    }
    return asked;
  }

  #add(key: string): Node<Mark> {
    const node: Node<Mark> = { key, mark: null, dependents: [] };
    this.#nodes.set(key, node);
    return node;
  }

  #spread(marked: Node<Mark>, mark: Mark): void {
    const reached = [marked];
    for (let node = reached.pop(); node !== undefined; node = reached.pop()) {
      if (node.mark !== null) continue;
      node.mark = mark;
      for (const dependent of node.dependents) reached.push(dependent);
    }
  }
}
