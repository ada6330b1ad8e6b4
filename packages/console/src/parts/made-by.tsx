/** Shows when something was made, and by whom, as far as it is known. */
import type { ActorView } from '@erp-proxy/contract';
import { Time } from './time.tsx';

export function MadeBy({ at, by }: { at: string; by: ActorView | null }) {
  return (
    <>
      <Time at={at} />
      {by !== null && (
        <>
          {' '}
          by{' '}
          <span className="data" title={by.id}>
            {by.name}
          </span>
        </>
      )}
    </>
  );
}
