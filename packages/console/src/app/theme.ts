/** Colours, fonts and defaults of components. Fonts are those of the system: nothing is loaded from elsewhere. */
import { Anchor, type CSSVariablesResolver, createTheme } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'indigo',
  // In dark mode a lighter shade keeps the contrast of text that WCAG AA asks for.
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '600' },
  cursorType: 'pointer',
  // A link has the size of the text around it.
  components: { Anchor: Anchor.extend({ defaultProps: { inherit: true } }) },
});

/** Secondary text as dark as WCAG AA asks for. Mantine's own is lighter. */
export const resolveColors: CSSVariablesResolver = () => ({
  variables: {},
  light: { '--mantine-color-dimmed': 'var(--mantine-color-gray-7)' },
  dark: { '--mantine-color-dimmed': 'var(--mantine-color-dark-1)' },
});
