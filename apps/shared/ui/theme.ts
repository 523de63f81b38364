import { createTheme, type MantineColorsTuple, Modal } from "@mantine/core";

/** A quiet green-blue: enough contrast for text on paper, and not the colour of any warning. */
const spruce: MantineColorsTuple = [
  "#eef7f5",
  "#d8ebe7",
  "#afd7d0",
  "#83c1b7",
  "#5fafa3",
  "#459e91",
  "#2c8579",
  "#17675d",
  "#0f564d",
  "#0a433c",
];

export const theme = createTheme({
  primaryColor: "spruce",
  primaryShade: { light: 7, dark: 4 },
  colors: { spruce },
  autoContrast: true,
  defaultRadius: "md",
  fontFamily: '"Inter Variable", system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace',
  headings: { fontFamily: '"Source Serif 4 Variable", Georgia, serif', fontWeight: "600" },
  cursorType: "pointer",
  focusRing: "auto",
  respectReducedMotion: true,
  components: {
    // Dialogs that grow while they open make their contents measure themselves wrongly.
    Modal: Modal.extend({ defaultProps: { transitionProps: { transition: "fade", duration: 120 } } }),
  },
});
