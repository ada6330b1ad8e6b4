/** Composes the console: theme, data, session and pages. */
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { ProblemError } from '../api/send.ts';
import { createConsoleRouter } from './router.ts';
import { resolveColors, theme } from './theme.ts';

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Does not wait while the browser reports that it is offline: a proxy on this machine answers without a network.
      networkMode: 'always',
      staleTime: 5_000,
      // A problem is a final answer; only after a lost connection does a retry help.
      retry: (count, error) => !(error instanceof ProblemError) && count < 2,
    },
    mutations: { networkMode: 'always' },
  },
});

const router = createConsoleRouter();

export function App() {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={resolveColors} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}
