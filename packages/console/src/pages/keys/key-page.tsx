import type { KeyView } from '@erp-proxy/contract';
import { useQuery } from '@tanstack/react-query';
import { readAdmin } from '../../api/queries.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { keyRoute } from './route.ts';

export function KeyPage() {
  const { id } = keyRoute.useParams();
  const { data: key, error } = useQuery(readAdmin<KeyView>(`/keys/${encodeURIComponent(id)}`));
  return (
    <>
      <PageHeader title={key?.name ?? 'Key'} purpose={id} />
      <ProblemAlert error={error} />
    </>
  );
}
