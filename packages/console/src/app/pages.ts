/** The pages in the navigation, in their order. */
import type { IconName } from '../parts/icon.tsx';

export const PAGES = [
  { path: '/', label: 'Overview', icon: 'gauge' },
  { path: '/playground', label: 'Playground', icon: 'play' },
  { path: '/calls', label: 'Calls', icon: 'list' },
  { path: '/keys', label: 'Keys', icon: 'key' },
  { path: '/instances', label: 'Instances', icon: 'server' },
  { path: '/subscriptions', label: 'Subscriptions', icon: 'webhook' },
  { path: '/approvals', label: 'Approvals', icon: 'approval' },
] as const satisfies readonly { path: string; label: string; icon: IconName }[];
