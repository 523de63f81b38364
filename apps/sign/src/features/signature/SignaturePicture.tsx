import type { SignatureInput } from "../../../../../server/features/signing/contract.ts";
import "./fonts.css";

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
  // Handwriting is about 0.45 em a letter wide; a signature fills two thirds of its box.
  const size = Math.min(height * 0.66, (width * 0.92) / Math.max(signature.text.length * 0.45, 1));
  return (
    <span aria-hidden="true" className="signature-typed" style={{ fontFamily: `"${signature.font}"`, fontSize: size }}>
      {signature.text}
    </span>
  );
}
