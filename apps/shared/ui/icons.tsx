import type { ReactNode } from "react";

function icon(paths: ReactNode, size: number) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {paths}
    </svg>
  );
}

type Props = { size?: number };

export const Check = ({ size = 20 }: Props) => icon(<path d="M5 12.5l4.5 4.5L19 7.5" />, size);
export const Pen = ({ size = 20 }: Props) =>
  icon(<path d="M4 20c3-1 4-2 5-3l10-10a2 2 0 0 0-3-3L6 14c-1 1-1 3-2 6zM14 6l4 4" />, size);
export const Clock = ({ size = 20 }: Props) =>
  icon(
    <>
      <circle cx="12" cy="12" r="9" />
      <path d="M12 7v5l3.5 2" />
    </>,
    size,
  );
export const Cross = ({ size = 20 }: Props) => icon(<path d="M6 6l12 12M18 6L6 18" />, size);
export const Download = ({ size = 20 }: Props) => icon(<path d="M12 4v11m-5-5l5 5 5-5M5 20h14" />, size);
export const Clip = ({ size = 20 }: Props) =>
  icon(
    <path d="M20 11.5l-8.2 8.2a5 5 0 0 1-7-7l8.4-8.4a3.3 3.3 0 0 1 4.7 4.7l-8.4 8.4a1.7 1.7 0 0 1-2.4-2.4L15 7.3" />,
    size,
  );
export const Picture = ({ size = 20 }: Props) =>
  icon(
    <>
      <rect x="3.5" y="5" width="17" height="14" rx="2" />
      <path d="M4 16l4.5-4.5 4 4 2.5-2.5 5 5" />
      <circle cx="15.5" cy="9.5" r="1.2" />
    </>,
    size,
  );
export const Mail = ({ size = 20 }: Props) =>
  icon(
    <>
      <rect x="3.5" y="5.5" width="17" height="13" rx="2" />
      <path d="M4 7l8 6 8-6" />
    </>,
    size,
  );
export const Shield = ({ size = 20 }: Props) =>
  icon(<path d="M12 3l7.5 3v5.5c0 4.6-3.2 8-7.5 9.5-4.3-1.5-7.5-4.9-7.5-9.5V6L12 3zM8.8 12l2.3 2.3 4.2-4.4" />, size);
export const Question = ({ size = 20 }: Props) =>
  icon(
    <>
      <circle cx="12" cy="12" r="9" />
      <path d="M9.5 9.3a2.6 2.6 0 1 1 3.6 2.4c-.8.4-1.1.9-1.1 1.8M12 16.8v.01" />
    </>,
    size,
  );
export const Pages = ({ size = 20 }: Props) =>
  icon(
    <path d="M7 3.5h7l4.5 4.5v11a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 19V5A1.5 1.5 0 0 1 7 3.5zM14 3.5V8h4.5" />,
    size,
  );
export const Eye = ({ size = 20 }: Props) =>
  icon(
    <>
      <path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z" />
      <circle cx="12" cy="12" r="3" />
    </>,
    size,
  );
export const EyeOff = ({ size = 20 }: Props) =>
  icon(
    <path d="M4 4l16 16M9.9 5.7A9 9 0 0 1 12 5.5C18 5.5 21.5 12 21.5 12a17 17 0 0 1-3 3.7M6.2 7.6C3.8 9.4 2.5 12 2.5 12S6 18.5 12 18.5a9 9 0 0 0 4.3-1.1M9.9 9.9a3 3 0 0 0 4.2 4.2" />,
    size,
  );
export const Fingerprint = ({ size = 20 }: Props) =>
  icon(
    <path d="M5 8.5a8 8 0 0 1 14 0M4.5 14v-1.5a7.5 7.5 0 0 1 1-3.7M19.5 12.5V15M8 19.5c-.6-1.8-.5-3.6-.5-7a4.5 4.5 0 0 1 9 0c0 3 0 4.8-.7 7M12 12.5c0 3.2 0 5.4-.6 8" />,
    size,
  );
export const Menu = ({ size = 20 }: Props) => icon(<path d="M4 6.5h16M4 12h16M4 17.5h16" />, size);
export const Gear = ({ size = 20 }: Props) =>
  icon(
    <path d="M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM9 14.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z" />,
    size,
  );
export const Home = ({ size = 20 }: Props) =>
  icon(<path d="M4 11.2L12 4l8 7.2V19a1.5 1.5 0 0 1-1.5 1.5h-4v-6h-5v6h-4A1.5 1.5 0 0 1 4 19v-7.8z" />, size);
export const Layers = ({ size = 20 }: Props) =>
  icon(<path d="M12 3.5l8.5 4.6-8.5 4.6-8.5-4.6L12 3.5zM4 12.4l8 4.3 8-4.3M4 16.3l8 4.3 8-4.3" />, size);
export const Send = ({ size = 20 }: Props) =>
  icon(<path d="M20.5 3.5L3.5 10.2l6.6 3.7 3.7 6.6 6.7-17zM10.1 13.9l4-4" />, size);
/** Back to how it was. */
export const Undo = ({ size = 20 }: Props) => icon(<path d="M4.5 4.5v5h5M5 9.5a8 8 0 1 1-1 5M12 8v4.5l3 1.8" />, size);
export const Flask = ({ size = 20 }: Props) =>
  icon(
    <path d="M9.5 3.5h5M10.5 3.5v6L5 18.6a1.3 1.3 0 0 0 1.1 1.9h11.8a1.3 1.3 0 0 0 1.1-1.9l-5.5-9.1v-6M7.6 14.5h8.8" />,
    size,
  );
export const ChevronUpDown = ({ size = 20 }: Props) => icon(<path d="M8 9.5L12 5.5l4 4M8 14.5l4 4 4-4" />, size);
export const Plus = ({ size = 20 }: Props) => icon(<path d="M12 5v14M5 12h14" />, size);
export const Minus = ({ size = 20 }: Props) => icon(<path d="M5 12h14" />, size);
export const Dots = ({ size = 20 }: Props) =>
  icon(
    <>
      <circle cx="5" cy="12" r="1" />
      <circle cx="12" cy="12" r="1" />
      <circle cx="19" cy="12" r="1" />
    </>,
    size,
  );
export const AlignLeft = ({ size = 20 }: Props) =>
  icon(
    <>
      <path d="M4 3.5v17" />
      <rect x="7.5" y="6" width="12" height="4" rx="1" />
      <rect x="7.5" y="14" width="7" height="4" rx="1" />
    </>,
    size,
  );
export const Sidebar = ({ size = 20 }: Props) =>
  icon(
    <>
      <rect x="3.5" y="4.5" width="17" height="15" rx="2" />
      <path d="M9 4.5v15M5.5 8h1.5M5.5 11h1.5" />
    </>,
    size,
  );
