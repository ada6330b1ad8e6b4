/** The pages in the navigation, in their order. */
import type { Role } from '@erp-proxy/contract';
import type { IconName } from '../parts/icon.tsx';

export const PAGES = [
  { path: '/', label: 'Overview', icon: 'gauge' },
  { path: '/playground', label: 'Playground', icon: 'play' },
  { path: '/calls', label: 'Calls', icon: 'list' },
  { path: '/keys', label: 'Keys', icon: 'key' },
  { path: '/people', label: 'People', icon: 'people' },
  { path: '/instances', label: 'Instances', icon: 'server' },
  { path: '/fleet', label: 'Fleet', icon: 'grid' },
  { path: '/jobs', label: 'Jobs', icon: 'clock' },
  { path: '/subscriptions', label: 'Subscriptions', icon: 'webhook' },
  { path: '/approvals', label: 'Approvals', icon: 'approval' },
] as const satisfies readonly { path: string; label: string; icon: IconName }[];

/** The roles that pages need whose only purpose is to make calls or changes. */
const ROLES: readonly { path: string; role: Role }[] = [
  { path: '/playground', role: 'operator' },
  { path: '/start', role: 'operator' },
  { path: '/keys/new', role: 'operator' },
  { path: '/instances/new', role: 'operator' },
  { path: '/subscriptions/new', role: 'operator' },
];

/** Pages about the whole proxy, which are not for who is limited to some of the instances. */
const WHOLE: readonly string[] = ['/keys/denied-subjects', '/people/sign-ins', '/people/applications'];

export function isAboutAll(path: string): boolean {
  return WHOLE.includes(path);
}

/** The role that the page at this path needs; `viewer` is enough for most. */
export function findNeededRole(path: string): Role {
  return ROLES.find((page) => page.path === path)?.role ?? 'viewer';
}
