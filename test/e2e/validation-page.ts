import { examinePdf, examineToken } from "../../apps/shared/validation/examine.ts";

/** The validation as pages have it, for a test to call; one list of authorities stands for both. */
Object.assign(globalThis, {
  validation: {
    examinePdf: (pdf: Uint8Array, trusted: readonly Uint8Array[], at: string) =>
      examinePdf(pdf, { seals: trusted, timestamps: trusted }, at),
    examineToken,
  },
});
