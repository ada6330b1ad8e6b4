/** Finds the page of an object by its kind and name in the audit or the API, such as `key 9f2c61d07a4be835`. Pure. */

export interface PageLink {
  to: string;
  params?: Record<string, string>;
  search?: Record<string, string>;
}

/** Null if no page of the console shows the object. */
export function findTargetLink(target: string): PageLink | null {
  const [, kind, name = ''] = /^(\S+) ([\s\S]+)$/.exec(target) ?? [];
  switch (kind) {
    case 'key':
      return { to: '/keys/$id', params: { id: name } };
    case 'instance':
      return { to: '/instances/$name', params: { name } };
    case 'subscription':
      return { to: '/subscriptions/$name', params: { name } };
    case 'approval':
      return { to: '/approvals/$id', params: { id: name } };
    default:
      return null;
  }
}
