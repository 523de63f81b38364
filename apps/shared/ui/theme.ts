import { createTheme, type MantineColorsTuple } from "@mantine/core";

/** A quiet green-blue: enough contrast for text on paper, and not the colour of any warning. */
const spruce: MantineColorsTuple = [
  "#eef7f5",
  "#d8ebe7",
  "#afd7d0",
  "#83c1b7",
  "#5fafa3",
  "#459e91",
  "#257d71",
  "#17675d",
  "#0f564d",
  "#0a433c",
];

const brick: MantineColorsTuple = [
  "#fdecea",
  "#fad3cf",
  "#f4a8a1",
  "#ee7b71",
  "#e85547",
  "#d93c2e",
  "#c22f25",
  "#b3261e",
  "#8f1d17",
  "#6f1611",
];

/** The dark surfaces of base.css, so that menus and dialogs belong to the page. */
const night: MantineColorsTuple = [
  "#e8edeb",
  "#c3cdca",
  "#a3b0ad",
  "#7d8b88",
  "#46524f",
  "#313c3a",
  "#202928",
  "#1a2120",
  "#141a19",
  "#0e1312",
];

export const theme = createTheme({
  primaryColor: "spruce",
  // White text stands on both (WCAG 1.4.3).
  primaryShade: { light: 7, dark: 6 },
  colors: { spruce, brick, dark: night },
  defaultRadius: "md",
  fontFamily: '"Inter Variable", system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace',
  headings: { fontFamily: '"Source Serif 4 Variable", Georgia, serif', fontWeight: "600" },
  cursorType: "pointer",
  focusRing: "auto",
  respectReducedMotion: true,
  components: {
    // An empty element among the items, which a menu must not have (ARIA, required owned elements).
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // Dialogs that grow while they open make their contents measure themselves wrongly.
    Modal: { defaultProps: { transitionProps: { transition: "fade", duration: 120 } } },
  },
});
