/** A class whose constructor adds the private fields of its subclasses to the object that it is given. */
export class Marks {
  constructor(object: object) {
    return object;
  }
}
