SELECT code, nm FROM carriers WHERE n > 10
