import type { SignatureInput, signatureFonts } from "../../../../../server/features/signing/contract.ts";
import "./fonts.css";

/** How wide a letter of each face is on the average of names, in em, with room to spare. */
const letterWidths: Record<(typeof signatureFonts)[number], number> = {
  Caveat: 0.45,
  "Dancing Script": 0.5,
  "Great Vibes": 0.48,
  "Homemade Apple": 0.74,
};

/** A signature as it will stand in a box of the document; sizes in CSS pixels. */
export function SignaturePicture({
  signature,
  width,
  height,
}: {
  signature: SignatureInput;
  width: number;
  height: number;
}) {
  if (signature.method !== "type") return <img className="signature-picture" src={signature.image} alt="" />;
  // A signature fills two thirds of its box, unless the name is too long for that.
  const letter = letterWidths[signature.font];
  const size = Math.min(height * 0.66, (width * 0.92) / Math.max(signature.text.length * letter, 1));
  return (
    <span aria-hidden="true" className="signature-typed" style={{ fontFamily: `"${signature.font}"`, fontSize: size }}>
      {signature.text}
    </span>
  );
}
