/** Colours, fonts and defaults of components. Fonts are those of the system: nothing is loaded from elsewhere. */
import { Anchor, createTheme } from '@mantine/core';

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
