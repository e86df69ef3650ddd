/** Where an output with a display id stands. */
export interface DisplayPlace {
  readonly cellId: string;
  readonly index: number;
}

/** Which outputs a later message with the same display id changes. */
export class DisplayIds {
  places(id: string): readonly DisplayPlace[] {
    return this._places.get(id) ?? [];
  }

  note(id: string, place: DisplayPlace): void {
    this._places.set(id, [...this.places(id), place]);
  }

  /** The cell's outputs are gone. */
  forget(cellId: string): void {
    for (const [id, places] of this._places) {
      const left = places.filter(place => place.cellId !== cellId);
      if (left.length === 0) {
        this._places.delete(id);
      } else {
        this._places.set(id, left);
      }
    }
  }

  private readonly _places = new Map<string, DisplayPlace[]>();
}
