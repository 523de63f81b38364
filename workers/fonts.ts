/** The fonts that the product ships. Constants only, so that the server's contract may list them. */

export type FontStyle = "400Regular" | "700Bold" | "400Regular_Italic" | "700Bold_Italic";
export type FontFamily = {
  /** The name inside the font file. */
  family: string;
  /** Folder under @expo-google-fonts/. */
  folder: string;
  /** Beginning of the file names. */
  file: string;
  styles: readonly FontStyle[];
};

const REGULAR: readonly FontStyle[] = ["400Regular"];
const UPRIGHT: readonly FontStyle[] = ["400Regular", "700Bold"];
const ALL: readonly FontStyle[] = ["400Regular", "700Bold", "400Regular_Italic", "700Bold_Italic"];

export const bodyFont = "Noto Sans";
export const monoFont = "Noto Sans Mono";

export const fontFamilies: readonly FontFamily[] = [
  { family: bodyFont, folder: "noto-sans", file: "NotoSans", styles: ALL },
  { family: monoFont, folder: "noto-sans-mono", file: "NotoSansMono", styles: UPRIGHT },
  { family: "Noto Sans Hebrew", folder: "noto-sans-hebrew", file: "NotoSansHebrew", styles: UPRIGHT },
  { family: "Noto Naskh Arabic", folder: "noto-naskh-arabic", file: "NotoNaskhArabic", styles: UPRIGHT },
  { family: "Noto Sans Devanagari", folder: "noto-sans-devanagari", file: "NotoSansDevanagari", styles: UPRIGHT },
  { family: "Noto Sans Thai", folder: "noto-sans-thai", file: "NotoSansThai", styles: UPRIGHT },
  { family: "Noto Sans SC", folder: "noto-sans-sc", file: "NotoSansSC", styles: UPRIGHT },
  { family: "Noto Sans JP", folder: "noto-sans-jp", file: "NotoSansJP", styles: UPRIGHT },
  { family: "Noto Sans KR", folder: "noto-sans-kr", file: "NotoSansKR", styles: UPRIGHT },
  { family: "Noto Emoji", folder: "noto-emoji", file: "NotoEmoji", styles: UPRIGHT },
  { family: "Caveat", folder: "caveat", file: "Caveat", styles: UPRIGHT },
  { family: "Dancing Script", folder: "dancing-script", file: "DancingScript", styles: UPRIGHT },
  { family: "Great Vibes", folder: "great-vibes", file: "GreatVibes", styles: REGULAR },
  { family: "Homemade Apple", folder: "homemade-apple", file: "HomemadeApple", styles: REGULAR },
];

/** The handwriting faces offered for typed signatures. */
export const signatureFonts: readonly string[] = ["Caveat", "Dancing Script", "Great Vibes", "Homemade Apple"];

/** The faces offered for text; every other name is set in the first. */
export const textFonts: readonly string[] = [bodyFont, monoFont, ...signatureFonts];

/** Those that draw one letter with several glyphs. */
export const fontsWithParts: readonly string[] = [
  "Noto Sans Hebrew",
  "Noto Naskh Arabic",
  "Noto Sans Devanagari",
  "Noto Sans Thai",
];
