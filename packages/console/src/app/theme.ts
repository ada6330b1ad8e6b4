/** Colours, fonts and defaults of components. Fonts are those of the system: nothing is loaded from elsewhere. */
import { Anchor, type CSSVariablesResolver, createTheme, Drawer, Modal } from '@mantine/core';

/** For those who do not see its cross. */
const CLOSE = { 'aria-label': 'Close' };

export const theme = createTheme({
  primaryColor: 'indigo',
  // In dark mode a lighter shade keeps the contrast of text that WCAG AA asks for.
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '600' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // A link has the size of the text around it.
    Anchor: Anchor.extend({ defaultProps: { inherit: true } }),
    Drawer: Drawer.extend({ defaultProps: { closeButtonProps: CLOSE } }),
    Modal: Modal.extend({ defaultProps: { closeButtonProps: CLOSE } }),
  },
});

/** Secondary text, links, and text on light backgrounds, as dark as WCAG AA asks for. Mantine's own is lighter. */
export const resolveColors: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    // Also in a row that the pointer is over.
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
    // Also in a row that is selected, or that the pointer is over.
    '--mantine-color-anchor': 'var(--mantine-color-indigo-3)',
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
  },
});
