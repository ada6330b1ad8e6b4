import { PageHeader } from '../../parts/page-header.tsx';

export function OverviewPage() {
  return <PageHeader title="Overview" purpose="Calls, servers, and what needs attention." />;
}
