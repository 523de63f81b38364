import { useEffect, useState } from "react";
import type { SignatureInput } from "../../../../server/features/signing/contract.ts";
import "./fonts.css";
import "./signature.css";

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
  const measured = useMeasured(text, font);
  if (!measured) return null;
  const { ink, ...shown } = measured;
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
      <text x={left} y={baseline} fontSize={100 * scale} style={{ fontFamily: `"${shown.font}"` }}>
        {shown.text}
      </text>
    </svg>
  );
}

type Measured = { text: string; font: string; ink: Ink };

/** The last text that was measured, with what it takes: another one set by that would not fit its box. */
function useMeasured(text: string, font: string): Measured | null {
  const [measured, setMeasured] = useState<Measured | null>(null);
  useEffect(() => {
    let live = true;
    const take = () => {
      if (!live) return;
      const ink = measure(text, font);
      setMeasured(ink && { text, font, ink });
    };
    // Measured only once the face is there: another one has other letters.
    document.fonts.load(`100px "${font}"`, text).then(take, take);
    return () => {
      live = false;
    };
  }, [text, font]);
  return measured;
}

function measure(text: string, font: string): Ink | null {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return null;
  context.font = `100px "${font}"`;
  const { width, actualBoundingBoxAscent: ascent, actualBoundingBoxDescent: descent } = context.measureText(text);
  return width > 0 && ascent + descent > 0 ? { width, ascent, descent } : null;
}
