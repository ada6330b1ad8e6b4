import { Loader } from '@mantine/core';

/** Shown while the code of a page loads. */
export function LoadingPage() {
  return <Loader role="status" aria-label="Loading" m="xl" />;
}
