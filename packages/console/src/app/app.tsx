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
      // A proxy on this machine answers without a network: the browser's word that it is offline is no reason to wait.
      networkMode: 'always',
      staleTime: 5_000,
      // A problem is an answer; only a lost connection may heal by itself.
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
