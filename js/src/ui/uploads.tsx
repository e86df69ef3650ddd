import * as React from 'react';

import type { UploadedFile } from '../client/panel_rest';
import { complaintOf } from '../client/problems';
import { useTrans } from './hooks';

/** What the server takes of one file. */
export const UPLOAD_LIMIT_BYTES = 20_000_000;

export interface Uploads {
  /** Names of files on their way. */
  readonly uploading: readonly string[];
  /** Why a file was not taken; empty: nothing went wrong. */
  readonly problem: string;
  readonly add: (files: Iterable<File>) => void;
}

/** Sends files to the server, and hands over what it named them. */
export function useUploads(
  upload: (file: Blob, name: string) => Promise<UploadedFile>,
  onUploaded: (file: UploadedFile) => void
): Uploads {
  const trans = useTrans();
  const [uploading, setUploading] = React.useState<readonly string[]>([]);
  const [problem, setProblem] = React.useState('');
  const latest = React.useRef(onUploaded);
  latest.current = onUploaded;
  const send = async (file: File): Promise<void> => {
    const name = file.name === '' ? trans.__('pasted file') : file.name;
    if (file.size > UPLOAD_LIMIT_BYTES) {
      setProblem(trans.__('%1 is larger than 20 MB. Put it beside the notebook instead.', name));
      return;
    }
    setUploading(names => [...names, name]);
    try {
      latest.current(await upload(file, name));
    } catch (error) {
      const reason = complaintOf(error);
      setProblem(trans.__('%1 could not be uploaded: %2', name, reason));
    } finally {
      setUploading(names => without(names, name));
    }
  };
  return {
    uploading,
    problem,
    add: files => {
      setProblem('');
      for (const file of files) {
        void send(file);
      }
    }
  };
}

/** One of the names taken out: two files may be called the same. */
function without(names: readonly string[], name: string): readonly string[] {
  const index = names.indexOf(name);
  return names.filter((_, place) => place !== index);
}

/** Files of a drop or a paste. */
export function filesOf(transfer: DataTransfer | null): readonly File[] {
  return transfer === null ? [] : [...transfer.files];
}

export interface DropZone {
  readonly isOver: boolean;
  readonly handlers: Pick<
    React.HTMLAttributes<HTMLElement>,
    'onDragOver' | 'onDragLeave' | 'onDrop'
  >;
}

/** Takes files that are dropped on an element. */
export function useDropZone(onFiles: (files: readonly File[]) => void): DropZone {
  const [isOver, setOver] = React.useState(false);
  return {
    isOver,
    handlers: {
      onDragOver: event => {
        if (event.dataTransfer.types.includes('Files')) {
          event.preventDefault();
          setOver(true);
        }
      },
      onDragLeave: event => {
        const inside = event.relatedTarget;
        if (!(inside instanceof Node && event.currentTarget.contains(inside))) {
          setOver(false);
        }
      },
      onDrop: event => {
        const files = filesOf(event.dataTransfer);
        setOver(false);
        if (files.length > 0) {
          event.preventDefault();
          event.stopPropagation();
          onFiles(files);
        }
      }
    }
  };
}

interface FileChooserProps {
  readonly label: string;
  readonly onFiles: (files: readonly File[]) => void;
  /** What opens the choice. */
  readonly children: (open: () => void) => React.ReactNode;
}

/** Lets the person choose files of their computer. */
export function FileChooser({ label, onFiles, children }: FileChooserProps) {
  const chooser = React.useRef<HTMLInputElement>(null);
  return (
    <>
      {children(() => chooser.current?.click())}
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label={label}
        onChange={event => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = '';
        }}
      />
    </>
  );
}
