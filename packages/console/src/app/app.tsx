/** Composes the console: theme, data, session and pages. */
import {
  Anchor,
  type CSSVariablesResolver,
  createTheme,
  Drawer,
  MantineProvider,
  Modal,
} from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { ROOT } from '../api/root.ts';
import { ProblemError } from '../api/send.ts';
import { createConsoleRouter } from './router.ts';

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
        <Pages />
      </QueryClientProvider>
    </MantineProvider>
  );
}

const MePage = lazy(async () => ({ default: (await import('../pages/me/me-page.tsx')).MePage }));

/** Pages of a person need no role, and so none of the frame and the data of the console. */
function Pages() {
  const path = location.pathname.slice(ROOT.length).replace(/\/$/, '');
  const [, instance] = /^connect\/([^/]+)$/.exec(path) ?? [];
  if (path !== 'me' && instance === undefined) return <RouterProvider router={router} />;
  return (
    <Suspense fallback={null}>
      <MePage instance={instance === undefined ? null : decodeURIComponent(instance)} />
    </Suspense>
  );
}

/** A name for people who do not see the cross of the button. */
const CLOSE = { 'aria-label': 'Close' };

/** Colours, fonts and defaults of components. Uses fonts of the system, so nothing is loaded from elsewhere. */
const theme = createTheme({
  primaryColor: 'indigo',
  // In dark mode, the text needs a lighter shade for the contrast that WCAG AA requires.
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '600' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Makes links the size of the text around them.
    Anchor: Anchor.extend({ defaultProps: { inherit: true } }),
    Drawer: Drawer.extend({ defaultProps: { closeButtonProps: CLOSE } }),
    Modal: Modal.extend({ defaultProps: { closeButtonProps: CLOSE } }),
  },
});

/**
 * Secondary text, links, and text on light backgrounds, with the contrast that WCAG AA requires. Mantine's own colours
 * are lighter.
 */
const resolveColors: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    // Dark enough also in a row under the pointer.
    '--mantine-color-anchor': 'var(--mantine-color-indigo-8)',
    ...Object.fromEntries(
      Object.keys(colors).flatMap((name) => [
        [`--mantine-color-${name}-text`, `var(--mantine-color-${name}-9)`],
        [
          `--mantine-color-${name}-light-color`,
          `color-mix(in srgb, var(--mantine-color-${name}-9), black 20%)`,
        ],
      ]),
    ),
  },
  dark: {
    // Light enough also in a row that is selected or under the pointer.
    '--mantine-color-anchor': 'var(--mantine-color-indigo-3)',
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
  },
});
