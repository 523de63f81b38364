import { useEffect, useState } from "react";
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
  return <TypedSignature text={signature.text} font={signature.font} width={width} height={height} />;
}

/** What a line takes at a size of 100 pixels: its advance width, and its ink above and below the baseline. */
type Ink = { width: number; ascent: number; descent: number };

/** Set by the same rule as in the document (workers/typst/overlay.typ): what is shown is what is signed. */
function TypedSignature({ text, font, width, height }: { text: string; font: string; width: number; height: number }) {
  const ink = useInk(text, font);
  if (!ink) return null;
  const scale = Math.min((width * 0.9) / ink.width, (height * 0.92) / (ink.ascent + ink.descent));
  const left = (width - ink.width * scale) / 2;
  const baseline = (height - (ink.ascent + ink.descent) * scale) / 2 + ink.ascent * scale;
  return (
    <svg
      className="signature-typed"
      aria-hidden="true"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
    >
      <text x={left} y={baseline} fontSize={100 * scale} style={{ fontFamily: `"${font}"` }}>
        {text}
      </text>
    </svg>
  );
}

function useInk(text: string, font: string): Ink | null {
  const [ink, setInk] = useState<Ink | null>(null);
  useEffect(() => {
    let live = true;
    // Measured only once the face is there: another one has other letters.
    document.fonts.load(`100px "${font}"`, text).then(
      () => live && setInk(measure(text, font)),
      () => live && setInk(measure(text, font)),
    );
    return () => {
      live = false;
    };
  }, [text, font]);
  return ink;
}

function measure(text: string, font: string): Ink | null {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return null;
  context.font = `100px "${font}"`;
  const { width, actualBoundingBoxAscent: ascent, actualBoundingBoxDescent: descent } = context.measureText(text);
  return width > 0 && ascent + descent > 0 ? { width, ascent, descent } : null;
}
